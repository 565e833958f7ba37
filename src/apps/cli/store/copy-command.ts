import { copyStore } from '../../../services/sql/copy/copy-store.ts'
import { countRows } from '../../../services/sql/copy/count-rows.ts'
import type { Command, CommandLine, CommandOptions } from '../command/command.ts'
import { defineCommand } from '../command/define-command.ts'
import { withProgress } from '../screen/progress.ts'
import { type Terminal, UsageError } from '../terminal.ts'
import { countsText, isEqualCount } from './copy-counts.ts'
import { showCopy } from './copy-progress.ts'
import { checkStoreExists, isSameStore, type OpenStore, openStore, readStorePlace } from './open-store.ts'

const options = {
  'from-schema': { type: 'string', value: '<name>', description: 'Schema of <from> in Postgres (default: toolwright)' },
  'to-schema': { type: 'string', value: '<name>', description: 'Schema of <to> in Postgres (default: toolwright)' },
} as const satisfies CommandOptions

const KEYS_NOTE =
  'Credentials are encrypted as they were: programs that use <to> need the same keys, in encryptionKeys or TOOLWRIGHT_ENCRYPTION_KEYS.'

/** `toolwright store copy`. */
export const copyCommand: Command = defineCommand({
  name: 'store copy',
  summary: 'Copy a store to another database',
  usage: '<from> <to>',
  description: [
    'Copies sessions with their open requests and inboxes, the state of users and apps, artifacts, credentials, pins, memories and schedules. Each store is a SQLite file or a URL of Postgres. Stop the processes that use <from> first: a session in use is not copied, and a run that both stores continue has its effects twice.',
    'Stopped at any point and started again, it continues. A session appears in <to> when all of it is there. What <to> has with other content is reported and not overwritten.',
  ],
  options,
  notes: [KEYS_NOTE],
  examples: [
    ['toolwright store copy app.db "$DATABASE_URL"', 'from SQLite to Postgres'],
    ['toolwright store copy "$DATABASE_URL" app.db --from-schema shop', 'from a schema of Postgres to SQLite'],
  ],
  exitCodes: { 0: 'both stores hold as much of everything', 1: 'failure, or something was not copied' },
  run,
})

async function run({ values, positionals }: CommandLine<typeof options>, terminal: Terminal): Promise<number> {
  const [source, target, ...others] = positionals
  if (!source || !target || others.length > 0)
    throw new UsageError('Pass two stores. Usage: toolwright store copy <from> <to>')
  const place = (given: string, option: keyof typeof options): ReturnType<typeof readStorePlace> =>
    readStorePlace(given, { schema: values[option], option })
  const [sourcePlace, targetPlace] = [place(source, 'from-schema'), place(target, 'to-schema')]
  if (isSameStore(sourcePlace, targetPlace)) throw new UsageError('<from> and <to> are one store. Pass another <to>.')
  checkStoreExists(sourcePlace)
  await using from = await openStore(sourcePlace, { mustExist: true })
  await using to = await openStore(targetPlace, { mustExist: false })
  return await copy({ from, to }, terminal)
}

async function copy({ from, to }: { from: OpenStore; to: OpenStore }, terminal: Terminal): Promise<number> {
  const { output, errors } = terminal
  const total = (await countRows(from.database)).get('sessions') ?? 0
  const skipped = await showCopy(copyStore(from.database, to.database), { total, terminal })
  const counts = await withProgress(terminal, 'Counting both stores', async () => ({
    from: await countRows(from.database),
    to: await countRows(to.database),
  }))
  output.write(countsText(counts))
  if (counts.to.get('credentials')) errors.write(`${KEYS_NOTE}\n`)
  if (skipped > 0) errors.write(`Not copied: ${skipped}. See the messages above.\n`)
  else if (!isEqualCount(counts))
    errors.write(
      'The stores differ: <to> has content of its own, or <from> changed meanwhile. Nothing was overwritten.\n',
    )
  return skipped === 0 && isEqualCount(counts) ? 0 : 1
}
