// What a person can type instead of a message.

/** The commands of a chat, with what they do. */
export const COMMANDS: ReadonlyMap<string, string> = new Map([
  ['help', 'show this'],
  ['tools', 'list the tools of each agent'],
  ['state', 'show the state of the session'],
  ['more', 'show in full what the last turn cut'],
  ['new', 'start a new session'],
  ['exit', 'leave'],
])

const ALIASES: ReadonlyMap<string, string> = new Map([
  ['quit', 'exit'],
  ['clear', 'new'],
  ['reset', 'new'],
])

export type Typed =
  | { readonly type: 'message'; readonly text: string }
  | { readonly type: 'command'; readonly name: string }
  | { readonly type: 'unknown'; readonly hint: string }

/** Only `/` and one word is a command, so that a path is a message; `//word` sends `/word`. */
export function readTyped(line: string): Typed {
  const text = line.trim()
  if (text === 'exit') return { type: 'command', name: 'exit' }
  const word = /^\/([a-z?]*)$/i.exec(text)?.[1]?.toLowerCase()
  if (word === undefined) return { type: 'message', text: /^\/\/[a-z?]*$/i.test(text) ? text.slice(1) : text }
  if (word === '' || word === '?') return { type: 'command', name: 'help' }
  const name = ALIASES.get(word) ?? word
  if (COMMANDS.has(name)) return { type: 'command', name }
  const near = closest(word)
  const advice = near ? `Did you mean /${near}?` : '/help lists the commands.'
  return { type: 'unknown', hint: `There is no command /${word}. ${advice} To send it as a message, type //${word}.` }
}

function closest(word: string): string | undefined {
  const names = [...COMMANDS.keys(), ...ALIASES.keys()]
  const ranked = names.map((name) => ({ name, distance: name.startsWith(word) ? 0 : distance(word, name) }))
  const best = ranked.sort((a, b) => a.distance - b.distance)[0]
  return best && best.distance <= 2 && best.distance < word.length ? best.name : undefined
}

/** How many letters have to be added, removed or changed. */
function distance(a: string, b: string): number {
  if (a.length > 20) return a.length
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (const [j, other] of [...b].entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
