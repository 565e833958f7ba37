// npm start: the workbench with the example agents, which starts again when one of their files changes. Without a terminal, such as in a pipe: the tour of one of them.
const apps = ['examples/shop', 'examples/weather.ts', 'examples/team.ts', 'examples/pipeline.ts', 'examples/voice-desk']

const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true
if (isTerminal) {
  const { buildPage } = await import('./build-page.ts')
  await buildPage()
}
const more = process.argv.slice(2)
const command = isTerminal ? ['web', ...apps, '--open', ...more] : ['run', 'examples/weather.ts', '--memory', ...more]
process.argv.splice(2, more.length, ...command)
await import('../src/apps/cli/index.ts')
