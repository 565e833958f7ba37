import type { Program } from './languages.ts'

/** What a model is told about code that runs as a process. */
export function processInstruction(programs: ReadonlyMap<string, Program>, hasNetwork: boolean): string {
  const lines = [
    `Each run starts afresh${hasNetwork ? '' : ', without a network'}. Files you are given are in the working directory; files you write there are kept. Print what you want to see.`,
    programs.get('python')?.tools ? 'In Python, `import tools`; `tools.name(key=value)` gives a dict.' : '',
    programs.get('javascript')?.tools ? 'In JavaScript, `await tools.name({ key: value })` calls a tool.' : '',
  ]
  return lines.filter(Boolean).join(' ')
}
