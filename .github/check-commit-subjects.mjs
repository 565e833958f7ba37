// Fails when the subject of a commit is too long: node .github/check-commit-subjects.mjs origin/main..HEAD
import { execFileSync } from 'node:child_process'

const LONGEST = 72

const [range] = process.argv.slice(2)
if (range === undefined) throw new Error('Pass a range of commits, such as origin/main..HEAD')

const log = execFileSync('git', ['log', '--no-merges', '--format=%h %s', range], { encoding: 'utf8' })
const commits = log.split('\n').filter(Boolean)
const tooLong = commits.filter((commit) => commit.slice(commit.indexOf(' ') + 1).length > LONGEST)

for (const commit of tooLong) console.error(`The subject is longer than ${LONGEST} characters: ${commit}`)
console.log(`${commits.length} commits checked, ${tooLong.length} with a subject longer than ${LONGEST} characters`)
process.exitCode = tooLong.length > 0 ? 1 : 0
