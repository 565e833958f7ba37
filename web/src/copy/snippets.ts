// Calls and messages as source text that makes them again. Names and values come from models and users: each is quoted. No text
// has a token: the shell reads it from TOOLWRIGHT_TOKEN.
import { escapeJson } from '../../../src/core/base/escape.ts'
import type { JsonObject } from '../../../src/core/base/json.ts'
import { literal } from '../../../src/core/base/source-literal.ts'

/** A tool call of an agent. */
export interface CopiedCall {
  /** The app. */
  readonly app: string
  /** The user. */
  readonly userId: string
  /** The agent. */
  readonly agent: string
  /** The tool. */
  readonly tool: string
  /** The arguments. */
  readonly args: JsonObject
}

/** A message of a user. */
export interface CopiedMessage {
  /** The app. */
  readonly app: string
  /** The user. */
  readonly userId: string
  /** The session. */
  readonly sessionId: string
  /** The text. */
  readonly text: string
}

/** Where code finds the server and the agent. */
export interface CopyTarget {
  /** The address of the server. */
  readonly origin: string
  /** The agent file, as an import names it. */
  readonly file: string
}

/** Something as source text, by the name of the form. */
export interface Snippets {
  /** A request to the server. */
  readonly curl: string
  /** A program. */
  readonly TypeScript: string
  /** A command of Toolwright; missing if a word of it has control characters. */
  readonly 'CLI command'?: string
}

/** A call as source text. */
export function callSnippets({ app, userId, agent, tool, args }: CopiedCall, { origin, file }: CopyTarget): Snippets {
  const path = ['dev', 'apps', app, 'agents', agent, 'tools', tool, 'call'].map(encodeURIComponent).join('/')
  const options = { args: escapeJson(args), agent, user: userId, app }
  return {
    curl: curl(`${origin}/${path}`, { userId, args }),
    TypeScript: `${imports('ToolDispatcher', file)}import { createToolContext } from 'toolwright/testing'

const agents: Agent[] = [app instanceof Runner ? app.agent : app]
for (const { subAgents = [] } of agents) agents.push(...subAgents)
const agent = agents.find(({ name }) => name === ${literal(agent)})
const tools = agent instanceof LlmAgent ? await agent.listTools(createToolContext()) : []
const dispatcher = new ToolDispatcher({ confirmationProvider: () => ({ confirmed: false }) }).register(...tools)
console.log(await dispatcher.call(${literal(tool)}, ${literal(args)}))
`,
    ...command('tool', file, options, tool),
  }
}

/** A message as source text. */
export function messageSnippets(message: CopiedMessage, { origin, file }: CopyTarget): Snippets {
  const { app: appName, userId, sessionId, text } = message
  const newMessage = { role: 'user', parts: [{ text }] }
  return {
    curl: curl(`${origin}/run`, { appName, userId, sessionId, newMessage }),
    TypeScript: `${imports('', file)}
const runner = app instanceof Runner ? app : new Runner({ appName: ${literal(appName)}, agent: app as Agent })
console.log((await runner.complete({ userId: ${literal(userId)}, message: ${literal(text)} })).text)
`,
    ...command('run', file, { user: userId, app: appName }, text),
  }
}

function imports(dispatcher: string, file: string): string {
  const names = dispatcher ? `type Agent, LlmAgent, Runner, ${dispatcher}` : 'type Agent, Runner'
  return `import { ${names} } from 'toolwright'\nimport app from ${literal(file)}\n`
}

function curl(url: string, body: JsonObject): string {
  const headers = `-H "authorization: Bearer $TOOLWRIGHT_TOKEN" -H 'content-type: application/json'`
  return `curl ${shell(url)} ${headers} -d ${shell(escapeJson(body))}`
}

/** Pasted into a terminal, they can end the paste and type on. Shells have no common way to escape them. */
const CONTROL = /(?![\n\t])\p{Cc}/u

/** The last word, and the value of an option, may start with a dash: `--` ends the options, and a value is in the word of its option. */
function command(name: string, file: string, options: JsonObject, last: string): Pick<Snippets, 'CLI command'> {
  const words = Object.entries(options).map(([option, value]) => `--${option}=${shell(String(value))}`)
  const text = ['npx toolwright', name, shell(file), ...words, '--', shell(last)].join(' ')
  return CONTROL.test(text) ? {} : { 'CLI command': text }
}

/** A text as one word of a shell. The quotes do not keep a program from reading a word that starts with a dash as an option. */
function shell(text: string): string {
  return /^[\w./:=@%+,][\w./:=@%+,-]*$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
