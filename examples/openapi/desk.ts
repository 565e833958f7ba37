// An agent with a tool for each operation of an OpenAPI document. Whatever changes something waits for an approval.
//   PETS_URL=http://127.0.0.1:8642 npx toolwright run examples/openapi/desk.ts "List the pets."
import { fileURLToPath } from 'node:url'
import { LlmAgent } from 'toolwright'
import { OpenApiToolset } from 'toolwright/openapi'
import { model } from '../model.ts'
import { apiKey } from './server.ts'

const pets = new OpenApiToolset({
  spec: fileURLToPath(new URL('pets.yaml', import.meta.url)),
  baseUrl: process.env.PETS_URL ?? 'http://127.0.0.1:8642',
  confirmUnsafe: true,
  auth: { key: { rawAuthCredential: { authType: 'apiKey', apiKey } } },
})

const agent: LlmAgent = new LlmAgent({ name: 'desk', model, instruction: 'Help with the pets.', tools: [pets] })
export default agent
