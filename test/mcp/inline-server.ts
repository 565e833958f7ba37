// A local MCP server in one expression, for tests that need an honest one with certain answers.

/** The connection to a local server that answers each method with a fixed result. `setup` runs in the server first. */
export function inlineServer(
  results: { readonly [method: string]: object },
  { setup = '', args = [] }: { setup?: string; args?: readonly string[] } = {},
): { type: 'stdio'; command: string; args: string[] } {
  const initialize = {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {}, prompts: {} },
    serverInfo: { name: 'inline', version: '1' },
  }
  // a result may repeat an argument of the process, or its id
  const program = `
    ${setup}
    const all = ${JSON.stringify({ initialize, ...results })}
    const fill = (text) => text.replaceAll('$ARGUMENT', process.argv[1]).replaceAll('$PID', String(process.pid))
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method } = JSON.parse(line)
      if (id === undefined) return
      const body = all[method] ? { result: all[method] } : { error: { code: -32601, message: 'unknown' } }
      process.stdout.write(fill(JSON.stringify({ jsonrpc: '2.0', id, ...body })) + '\\n')
    })`
  return { type: 'stdio', command: process.execPath, args: ['-e', program, ...args] }
}

/** A tool in the result of `tools/list`. */
export function listedTool(name: string, more: object = {}): object {
  return { name, inputSchema: { type: 'object' }, ...more }
}
