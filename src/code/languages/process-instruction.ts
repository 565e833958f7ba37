import type { Interpreter } from './languages.ts'

/** Tells the model how to write code that runs as a process. */
export function processInstruction(interpreters: ReadonlyMap<string, Interpreter>, hasNetwork: boolean): string {
  const lines = [
    `Each run starts fresh${hasNetwork ? '' : ', without a network'}. Files you are given are in the working directory; files you write there are kept. Print what you want to see.`,
    interpreters.get('python')?.toolClient ? 'In Python, `import tools`; `tools.name(key=value)` gives a dict.' : '',
    interpreters.get('javascript')?.toolClient ? 'In JavaScript, `await tools.name({ key: value })` calls a tool.' : '',
  ]
  return lines.filter(Boolean).join(' ')
}
