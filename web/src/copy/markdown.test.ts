import { expect, test } from 'vitest'
import { ChatFold } from '../chat/fold.ts'
import { EMPTY_VIEW } from '../session/log-view.ts'
import { writeMarkdown } from './markdown.ts'

test('an exported conversation has messages, replies and calls, and no text of a call leaves its block', () => {
  const base = { invocationId: 'i1', timestamp: 0, actions: {} }
  const call = { functionCall: { id: 'c1', name: 'find_*', args: { text: '```\n# Heading' } } }
  const response = { functionResponse: { id: 'c1', name: 'find_*', response: { result: 'x' } } }
  const events = [
    { ...base, id: 'e1', author: 'user', content: { role: 'user' as const, parts: [{ text: 'Hi\n# there' }] } },
    { ...base, id: 'e2', author: 'desk', content: { role: 'model' as const, parts: [call] } },
    { ...base, id: 'e3', author: 'desk', content: { role: 'tool' as const, parts: [response] } },
    { ...base, id: 'e4', author: 'desk', content: { role: 'model' as const, parts: [{ text: 'Found *it*.' }] } },
  ]
  const entries = events.map((event, at) => ({ seq: at + 1, event }))
  const text = writeMarkdown('A\nB', new ChatFold().update({ ...EMPTY_VIEW, entries }))
  expect(text).toBe(`# A B

**User**, 1970-01-01T00:00:00.000Z

> Hi
> # there

**Call of \`find\\_\\*\`**: completed

\`\`\`\`
{
  "text": "\`\`\`\\n# Heading"
}
\`\`\`\`

\`\`\`
{
  "result": "x"
}
\`\`\`

**desk**, 1970-01-01T00:00:00.000Z

Found *it*.
`)
})
