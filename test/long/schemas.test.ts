import { testSchemas } from '../support/opened-schemas.ts'
import { SCHEMAS } from '../support/schema-fixtures.ts'

testSchemas(SCHEMAS)
