import { inject } from 'vitest'
import { testAppends } from './appends-suite.ts'
import { postgresSchemas } from './crash-store.ts'

testAppends(postgresSchemas(inject('postgresUrl')))
