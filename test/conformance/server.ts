// The MCP server that the conformance scenarios test. Prints its address.
import { serveMcp } from 'toolwright/mcp'
import { tools } from './tools.ts'

const logger = { warn: () => {}, error: () => {} }
const server = serveMcp({ name: 'conformance', tools, logger, httpSessions: !process.argv.includes('--stateless') })
const { url } = await server.listen({ port: 0 })
console.log(url)
process.stdin.on('end', () => void server.close()).resume()
