// The agent of desk.ts in a program, with the API that its document describes.
//   npx node examples/openapi/main.ts
import { approve, Runner } from 'toolwright'
import { startApi } from './server.ts'

const api = await startApi()
process.env.PETS_URL = api.url
const { default: agent } = await import('./desk.ts')
const runner = new Runner({ appName: 'pets', agent })
const session = { userId: 'ada', sessionId: 's1' }

for (const message of ['List the pets.', 'Delete the pet Minka.', 'List the pets.']) {
  const { text, pending } = await runner.complete({ ...session, message })
  console.log(`> ${message}\n${pending.length ? '' : text}`.trimEnd())
  for (const request of pending) {
    console.log(`${request.hint} ${JSON.stringify(request.args)}`)
    console.log((await runner.complete({ ...session, message: [approve(request)] })).text)
  }
}
await runner.close()
api.stop()
