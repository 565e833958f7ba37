// The tools of all shapes. Each has one effect in the outside world, which the ledger counts.
import { randomUUID } from 'node:crypto'
import { background, confirm, longRunning, type Tool, type ToolContext, tool } from 'toolwright'
import { effects, gatedTools, toolNames } from '../tool-names.ts'
import { Batch } from './batch.ts'
import type { Desk } from './desk.ts'

/** Makes the tools of a shape. */
export function payingTools(desk: Omit<Desk, 'runner'>): Tool[] {
  const batch = new Batch()
  return toolNames[desk.shape].map((name) => {
    const made = payingTool(desk, name, batch)
    if (gatedTools.includes(name)) return confirm(made)
    if (name === 'ship') return longRunning(made)
    return name === 'search' ? background(made) : made
  })
}

function payingTool(desk: Omit<Desk, 'runner'>, name: string, batch: Batch): Tool {
  const common = {
    name,
    description: `Takes effect once: ${effects[name]}`,
    run: async (_: unknown, context: ToolContext) => {
      await takeEffect(desk, name, { context, batch })
      await batch.end()
      return { paid: true }
    },
  }
  if (effects[name] !== 'reconcilable') return tool({ ...common, effect: effects[name] })
  return tool({
    ...common,
    effect: 'reconcilable',
    reconcile: async ({ idempotencyKey: key }) => {
      const { isNew } = await desk.note({ type: 'reconciled', tool: name, key })
      return isNew ? { status: 'not-done' } : { status: 'done', result: { paid: true } }
    },
  })
}

async function takeEffect(
  desk: Omit<Desk, 'runner'>,
  name: string,
  { context, batch }: { readonly context: ToolContext; readonly batch: Batch },
): Promise<void> {
  const { killer, note } = desk
  const place = batch.begin()
  const key = context.idempotencyKey
  await note({ type: 'body', tool: name, key })
  context.state.set(`paid-${key.split('/')[1]}`, true)
  context.state.set('user:lastPaid', key)
  if (!desk.isLeftAlone) await editStateFromOutside(desk)
  // while the body of a background call runs, no lease is held
  if (desk.shape !== 'background') {
    await killer.waitFor('c12')
    await killer.waitFor('c13')
  }
  await batch.myTurn(place)
  killer.reach('c6')
  batch.pass()
  await note({ type: 'effect', tool: name, key })
  killer.reach('c7')
}

/** Another process edits the state meanwhile: the run finds the item in its inbox. */
async function editStateFromOutside({ app, userId, sessionId, outside, note }: Omit<Desk, 'runner'>): Promise<void> {
  const id = `note-${randomUUID()}`
  await outside.post({ appName: app, userId, sessionId }, { id, type: 'state', stateDelta: { [id]: true } })
  await note({ type: 'posted', note: id })
}
