// A server, as `toolwright serve examples/replicas/desk.ts` starts one.
import { createServer } from 'toolwright/server'
import runner from './desk.ts'

const server = createServer({ apps: { desk: runner }, recover: { everyMs: 1_000 } })
const { url } = await server.listen({ port: 0 })
process.once('disconnect', () => process.exit()) // main.ts has ended
process.send?.({ url, token: server.token })
