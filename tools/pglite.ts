export { PGlite } from '@electric-sql/pglite'
export { vector } from '@electric-sql/pglite-pgvector'
