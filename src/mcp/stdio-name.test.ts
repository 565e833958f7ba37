import { expect, test } from 'vitest'
import { stdioName } from './stdio-name.ts'

test.each([
  ['npx -y @scope/server-files /tmp', 'server-files'],
  ['node --import toolwright/infer/register rates.mts', 'rates.mts'],
  ['node --env-file .env ./weather/dist/index.js', 'weather'],
  ['node server.js', 'node'],
  ['docker run -i --rm -e GITHUB_TOKEN ghcr.io/github/github-mcp-server', 'github-mcp-server'],
  ['uv --directory /srv/mcp run weather.py', 'weather.py'],
  ['bunx mail-server', 'mail-server'],
  ['/opt/tools/clock', 'clock'],
])('the server that "%s" starts is named %s', (line, name) => {
  const [command = '', ...args] = line.split(' ')
  expect(stdioName(command, args)).toBe(name)
})
