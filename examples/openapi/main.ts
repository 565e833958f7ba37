// An agent with a tool for each operation of an OpenAPI document. Whatever changes something waits for an approval.
//   npx node examples/openapi/main.ts
import { fileURLToPath } from 'node:url'
import { approve, LlmAgent, Runner } from 'toolwright'
import { OpenApiToolset } from 'toolwright/openapi'
import { model } from '../model.ts'
import { apiKey, startApi } from './server.ts'

const api = await startApi()
const pets = new OpenApiToolset({
  spec: fileURLToPath(new URL('pets.yaml', import.meta.url)),
  baseUrl: api.url,
  confirmUnsafe: true,
  auth: { key: { rawAuthCredential: { authType: 'apiKey', apiKey } } },
})
const agent = new LlmAgent({ name: 'desk', model, instruction: 'Help with the pets.', tools: [pets] })
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
