/** The `/commands` of a chat with their descriptions. */
export const COMMANDS: ReadonlyMap<string, string> = new Map([
  ['help', 'Show this help'],
  ['tools', 'List the tools of each agent'],
  ['state', 'Show the session state'],
  ['more', 'Show the truncated results of the last turn in full'],
  ['new', 'Start a new session'],
  ['exit', 'Exit the chat'],
])

const ALIASES: ReadonlyMap<string, string> = new Map([
  ['quit', 'exit'],
  ['clear', 'new'],
  ['reset', 'new'],
])

/** A typed line: a message to send, a command, or an unknown command with a hint for the user. */
type TypedInput =
  | { readonly type: 'message'; readonly text: string }
  | { readonly type: 'command'; readonly name: string }
  | { readonly type: 'unknown'; readonly hint: string }

/** Parses a typed line. Only `/` plus one word is a command, so a path is a message; `//word` sends `/word`. */
export function parseTypedInput(line: string): TypedInput {
  const text = line.trim()
  if (text === 'exit') return { type: 'command', name: 'exit' }
  const word = /^\/([a-z?]*)$/i.exec(text)?.[1]?.toLowerCase()
  if (word === undefined) return { type: 'message', text: /^\/\/[a-z?]*$/i.test(text) ? text.slice(1) : text }
  if (word === '' || word === '?') return { type: 'command', name: 'help' }
  const name = ALIASES.get(word) ?? word
  if (COMMANDS.has(name)) return { type: 'command', name }
  const near = findClosestCommand(word)
  const advice = near ? `Did you mean /${near}?` : '/help lists the commands.'
  return { type: 'unknown', hint: `Unknown command /${word}. ${advice} To send it as a message, type //${word}.` }
}

function findClosestCommand(word: string): string | undefined {
  const names = [...COMMANDS.keys(), ...ALIASES.keys()]
  const ranked = names.map((name) => ({ name, distance: name.startsWith(word) ? 0 : editDistance(word, name) }))
  const best = ranked.sort((a, b) => a.distance - b.distance)[0]
  return best && best.distance <= 2 && best.distance < word.length ? best.name : undefined
}

/** Levenshtein distance: how many letters to add, remove or change. */
function editDistance(a: string, b: string): number {
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
