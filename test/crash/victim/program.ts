// The program of every process of the crash tests. It is bundled into one file, which starts in a quarter of the time.
import { flushCompileCache } from 'node:module'
import { parseDeathTime } from '../kill-points.ts'
import { LedgerClient } from '../ledger/ledger-client.ts'
import { type AppendOptions, appendMany } from './append-many.ts'
import { converse, finish, sayGoodbye } from './caller.ts'
import { type Desk, type DeskOptions, openDesk } from './desk.ts'
import { importHistory } from './import-history.ts'
import { Killer } from './killer.ts'
import { PAY } from './models.ts'
import { persist } from './persist.ts'
import { watchStatements } from './watch-statements.ts'
import { type WriteOptions, writeOnFaultyDisk } from './write-on-faulty-disk.ts'

/** What the process does, as its only argument in JSON. */
export type Command =
  | ConverseCommand
  | ({ readonly type: 'append' } & AppendOptions)
  | ({ readonly type: 'write' } & WriteOptions)

/** Works on sessions. */
export interface ConverseCommand {
  /**
   * `converse`: one conversation. `finish`: completes what is left, then sends one more message. `work`: both, until it is killed.
   * `persist`: conversations, whatever the store does.
   */
  readonly type: 'converse' | 'finish' | 'work' | 'persist'
  /** The sessions. */
  readonly desks: readonly DeskOptions[]
  /** The socket of the ledger. */
  readonly ledger: string
  /** When the process kills itself: `c7:2`, `step:120` or `never`. */
  readonly death: string
  /** How many conversations `persist` has in each session. With 0, it completes what is left, then sends one more message. */
  readonly conversations?: number | undefined
  /** When the process ends by itself, so that a test fails. Default: after a minute. */
  readonly maxMs?: number | undefined
}

const command = JSON.parse(process.argv[2] ?? '') as Command
// a process that waits for something that never comes ends, so that a test fails
setTimeout(() => process.exit(3), ('maxMs' in command && command.maxMs) || 60_000)
if (command.type === 'append') await appendMany(command)
else if (command.type === 'write') console.log(JSON.stringify(await writeOnFaultyDisk(command)))
else await work(command)
process.exit()

async function work({ type, desks, ledger, death, conversations = 1 }: ConverseCommand): Promise<void> {
  if (type === 'persist') return await persist(desks, await LedgerClient.connect(ledger), conversations)
  const killer = new Killer(parseDeathTime(death))
  if (death !== 'never') flushCompileCache() // the process is killed and cannot do it at its exit
  await watchStatements(killer, desks[0]?.store ?? '')
  const surroundings = { ledger: await LedgerClient.connect(ledger), killer }
  await Promise.all(desks.map((desk) => workOn(openDesk(desk, surroundings), type)))
  console.log(JSON.stringify({ survived: killer.survived, steps: killer.steps }))
}

async function workOn(desk: Desk, type: Exclude<ConverseCommand['type'], 'persist'>): Promise<void> {
  if (desk.hasHistory) await importHistory(desk)
  for (;;) {
    if (type !== 'converse') await finish(desk)
    if (type === 'finish') await sayGoodbye(desk)
    else await converse(desk, PAY)
    if (type !== 'work') break
  }
  await desk.runner.close()
}
