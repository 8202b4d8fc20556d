export { LangfuseClient } from '@langfuse/client'
export { Langfuse } from 'langfuse'
