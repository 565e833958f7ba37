// A server for notes that any MCP client can use. `delete_notes` asks the user of the client first.
//   npx node examples/mcp/server.ts            over standard input and output
import { tool } from 'toolwright'
import { serveMcp } from 'toolwright/mcp'
import { z } from 'zod'

const notes: string[] = []

const addNote = tool({
  name: 'add_note',
  description: 'Add a note',
  parameters: z.object({ text: z.string() }),
  run: ({ text }) => ({ added: text, notes: notes.push(text) }),
})
const listNotes = tool({
  name: 'list_notes',
  description: 'List the notes',
  effect: 'none',
  run: () => ({ notes: [...notes] }),
})
const deleteNotes = tool({
  name: 'delete_notes',
  description: 'Delete all notes',
  requiresConfirmation: true,
  confirmationHint: 'Delete all notes?',
  run: () => ({ deleted: notes.splice(0).length }),
})

await serveMcp({ name: 'notes', tools: [addNote, listNotes, deleteNotes] }).stdio()
