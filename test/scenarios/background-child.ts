// A process that answers a message with a background call, and finishes its body on command.
import { LlmAgent, Runner } from 'toolwright'
import { sqlite } from 'toolwright/sqlite'
import { scriptedModel } from 'toolwright/testing'
import { type BackgroundChild, searchTool, where } from './background-kit.ts'
import { silentLogger } from './kit.ts'

await run(JSON.parse(process.argv[2] ?? '{}'))

async function run({ file, ledger, effect }: BackgroundChild): Promise<void> {
  const result = new Promise((resolve) => process.once('message', resolve))
  const began = Promise.withResolvers<void>()
  const search = searchTool(effect, ledger, async () => {
    began.resolve()
    await result
    return { hits: 3 }
  })
  const services = sqlite(file)
  const model = scriptedModel([{ calls: [{ name: 'search' }] }, 'Found 3.'])
  const agent = new LlmAgent({ name: 'desk', model, tools: [search] })
  const runner = new Runner({ appName: 'shop', agent, logger: silentLogger, ...services })
  await runner.complete({ ...where, message: 'Search.' })
  await began.promise
  process.send?.('began')
  await result
  await runner.internals.backgroundOf(where)
  process.send?.('ended')
}
