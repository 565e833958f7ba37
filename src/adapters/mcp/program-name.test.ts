import { McpToolset } from 'toolwright/mcp'
import { expect, test } from 'vitest'

const nameOf = (command: string, ...args: string[]): string =>
  new McpToolset({ connection: { type: 'stdio', command, args } }).name

test.each([
  ['files-server', '--token', 'key-of-ada'],
  ['files-server', 'key-of-ada'],
  ['/opt/bin/files-server', '/tmp', 'key-of-ada'],
  ['uvx', '--env', 'KEY=key-of-ada', 'files'],
  ['npx', '--//registry/:_authToken', 'key-of-ada', 'files'],
  ['node', '--no-warnings', 'server.js', 'key-of-ada'],
  ['python3', 'server.py', 'key-of-ada'],
])('a key in the arguments of an MCP server is not the name of its toolset: %s %s %s', (command, ...args) => {
  expect(nameOf(command, ...args)).not.toContain('key-of-ada')
})

test.each([
  ['files', 'npx', '-y', '@scope/files', '/tmp'],
  ['files', 'npx', '--package', '@scope/files', 'run'],
  ['@scope', 'npx', '@scope/server', '--api-key', 'x'],
  ['srv', '/usr/bin/python3', '-m', 'srv', '--verbose'],
  ['shop', 'C:\\tools\\npx.cmd', '-y', 'C:\\servers\\shop\\dist\\index.js'],
  ['files-server', '/opt/bin/files-server', '/tmp'],
  ['node', 'node', 'server.js', 'data'],
  ['rates.mts', 'node', '--import', 'toolwright/infer/register', 'rates.mts'],
  ['weather', 'node', '--env-file', '.env', './weather/dist/index.js'],
  ['files', 'docker', 'run', '-i', '--rm', '-e', 'TOKEN', '-p', '80:80', 'ghcr.io/acme/files'],
  ['weather.py', 'uv', '--directory', '/srv/mcp', 'run', 'weather.py'],
  ['mail-server', 'bunx', 'mail-server'],
])('a toolset is named %s after the program of %s %s %s', (name, command, ...args) => {
  expect(nameOf(command, ...args)).toBe(name)
})
