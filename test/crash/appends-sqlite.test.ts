import { testAppends } from './appends-suite.ts'
import { sqliteFiles } from './crash-store.ts'

testAppends(sqliteFiles)
