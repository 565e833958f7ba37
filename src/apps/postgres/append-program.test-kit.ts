// A process of a test: appends events to one session, together with other processes.
import { setTimeout as delay } from 'node:timers/promises'
import { entryOf, HOME } from '../../adapters/testing/suites/session-fixtures.ts'
import { ToolwrightError } from '../../core/error/error.ts'
import type { Lease } from '../../services/session/service.ts'
import { postgres } from './postgres.ts'

const [url = '', schema = '', name = '', count = '0'] = process.argv.slice(2)
const PER_LEASE = 50

await using services = postgres({ connectionString: url, max: 2 }, { schema })
const { sessionService } = services
for (let appended = 0; appended < Number(count); ) {
  const lease = await tryClaim()
  if (!lease) {
    await delay(50 + Math.random() * 100)
    continue
  }
  let { seq } = lease
  for (let n = 0; n < PER_LEASE; n++)
    seq = await sessionService.append(lease, seq, [
      entryOf(`${name} ${appended++}`, { [name]: appended, 'app:last': name }),
    ])
  await sessionService.release(lease)
}

async function tryClaim(): Promise<Lease | undefined> {
  try {
    return await sessionService.claim(HOME)
  } catch (error) {
    if (error instanceof ToolwrightError && error.code === 'SESSION_BUSY') return undefined
    throw error
  }
}
