import { sqliteFiles } from './crash-store.ts'
import { testRandomKills } from './random-suite.ts'

testRandomKills(sqliteFiles)
