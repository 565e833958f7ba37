import { inject } from 'vitest'
import { postgresSchemas } from './crash-store.ts'
import { testRandomKills } from './random-suite.ts'

testRandomKills(postgresSchemas(inject('postgresUrl')))
