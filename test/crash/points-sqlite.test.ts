import { sqliteFiles } from './crash-store.ts'
import { testKillPoints } from './points-suite.ts'

testKillPoints(sqliteFiles)
