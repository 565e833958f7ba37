// The program of every process of the crash tests. It is bundled into one file, which starts in a quarter of the time.
import { flushCompileCache } from 'node:module'
import { parseDeathTime } from '../kill-points.ts'
import { LedgerClient } from '../ledger/ledger-client.ts'
import { type AppendOptions, appendMany } from './append-many.ts'
import { converse, finish } from './caller.ts'
import { type Desk, type DeskOptions, openDesk } from './desk.ts'
import { importHistory } from './import-history.ts'
import { Killer } from './killer.ts'
import { PAY } from './models.ts'
import { watchStatements } from './watch-statements.ts'
import { type WriteOptions, writeOnFaultyDisk } from './write-on-faulty-disk.ts'

/** What the process does, as its only argument in JSON. */
export type Command =
  | ConverseCommand
  | ({ readonly type: 'append' } & AppendOptions)
  | ({ readonly type: 'write' } & WriteOptions)

/** Works on sessions. */
export interface ConverseCommand {
  /** `converse`: one conversation. `finish`: completes what is left, then sends one more message. `work`: both, until it is killed. */
  readonly type: 'converse' | 'finish' | 'work'
  /** The sessions. */
  readonly desks: readonly DeskOptions[]
  /** The socket of the ledger. */
  readonly ledger: string
  /** When the process kills itself: `c7:2`, `step:120` or `never`. */
  readonly death: string
}

// a process that waits for something that never comes ends, so that a test fails
setTimeout(() => process.exit(3), 60_000)
const command = JSON.parse(process.argv[2] ?? '') as Command
if (command.type === 'append') await appendMany(command)
else if (command.type === 'write') console.log(JSON.stringify(await writeOnFaultyDisk(command)))
else await work(command)
process.exit()

async function work({ type, desks, ledger, death }: ConverseCommand): Promise<void> {
  const killer = new Killer(parseDeathTime(death))
  if (death !== 'never') flushCompileCache() // the process is killed and cannot do it at its exit
  await watchStatements(killer, desks[0]?.store ?? '')
  const surroundings = { ledger: await LedgerClient.connect(ledger), killer }
  await Promise.all(desks.map((desk) => workOn(openDesk(desk, surroundings), type)))
  console.log(JSON.stringify({ survived: killer.survived, steps: killer.steps }))
}

async function workOn(desk: Desk, type: ConverseCommand['type']): Promise<void> {
  if (desk.hasHistory) await importHistory(desk)
  for (;;) {
    if (type !== 'converse') await finish(desk)
    if (type === 'finish') await sayGoodbye(desk)
    else await converse(desk, PAY)
    if (type !== 'work') break
  }
  await desk.runner.close()
}

/** The session accepts another message, and nothing is left to recover. */
async function sayGoodbye({ runner, userId, sessionId }: Desk): Promise<void> {
  const { text } = await runner.complete({ userId, sessionId, message: 'Bye.' })
  const left = await runner.recover()
  if (text !== 'done' || left.length > 0) throw new Error(`The model said "${text}", and ${left.length} runs are left.`)
}
