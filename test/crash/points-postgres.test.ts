import { inject } from 'vitest'
import { postgresSchemas } from './crash-store.ts'
import { testKillPoints } from './points-suite.ts'

testKillPoints(postgresSchemas(inject('postgresUrl')))
