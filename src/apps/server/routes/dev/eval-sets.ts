import type { Hono } from 'hono'
import { member } from '../../../../adapters/eval/cases/names.ts'
import { saveCase } from '../../../../adapters/eval/cases/write-eval-set.ts'
import { caseOfSession, type RecordedSession, recordCase } from '../../../../adapters/eval/recording/record-case.ts'
import type { RequestContext, ServerEnv, ServerParts } from '../../env.ts'
import type { EvalFolders } from '../../evals/eval-folders.ts'
import { caseIds, caseJson, checkSet, newSet, removeCase, replaceCase, setJson } from '../../evals/eval-sets.ts'
import { readRecordedSession } from '../../evals/recorded-session.ts'
import { Fields, invalid } from '../../wire/fields.ts'
import { readBody } from '../../wire/read-body.ts'
import { appOf } from '../scope.ts'

/** Routes of adk-web for sets and their cases, in the form of today and in the one before: `eval-sets` and `eval_sets`. */
export function evalSetRoutes(app: Hono<ServerEnv>, parts: ServerParts, folders: EvalFolders): void {
  setRoutes(app, folders)
  caseRoutes(app, folders)
  sessionRoutes(app, parts, folders)
}

function setRoutes(app: Hono<ServerEnv>, folders: EvalFolders): void {
  for (const path of folders.paths) {
    app.get(`${path}/eval_sets`, async (context) => context.json((await (await folders.find(context))?.sets()) ?? []))
    app.get(`${path}/eval-sets`, async (context) =>
      context.json({ evalSetIds: (await (await folders.find(context))?.sets()) ?? [] }),
    )

    app.post(`${path}/eval_sets/:set`, async (context) => {
      const folder = await folders.of(context)
      await folder.create(setOf(context), newSet(setOf(context)))
      return context.json(null)
    })
    app.post(`${path}/eval-sets`, async (context) => {
      const folder = await folders.of(context)
      const id = new Fields((await readBody(context)).object('evalSet'), 'evalSet').text('evalSetId')
      const text = newSet(id)
      await folder.create(id, text)
      return context.json(setJson(text, id))
    })
  }
}

function caseRoutes(app: Hono<ServerEnv>, folders: EvalFolders): void {
  for (const path of folders.paths) {
    app.get(`${path}/eval_sets/:set/evals`, async (context) => {
      const id = setOf(context)
      return context.json(caseIds(await (await folders.of(context)).read(id), id))
    })

    for (const cases of [`${path}/eval-sets/:set/eval-cases/:case`, `${path}/eval_sets/:set/evals/:case`]) {
      app.get(cases, async (context) => {
        const id = setOf(context)
        return context.json(caseJson(await (await folders.of(context)).read(id), id, caseOf(context)))
      })
      app.put(cases, async (context) => {
        const folder = await folders.of(context)
        const changed = (await readBody(context)).whole()
        const given = member(changed, 'eval_id') ?? caseOf(context)
        if (given !== caseOf(context)) throw invalid('The evalId of the body must be that of the path.')
        const { eval_id: _, ...rest } = changed
        const id = setOf(context)
        const one = { ...rest, evalId: given }
        await folder.change(id, (text) => replaceCase(text, id, one))
        return context.json(null)
      })
      app.delete(cases, async (context) => {
        const id = setOf(context)
        await (await folders.of(context)).change(id, (text) => removeCase(text, id, caseOf(context)))
        return context.json(null)
      })
    }
  }
}

/** A session becomes a case. */
function sessionRoutes(app: Hono<ServerEnv>, parts: ServerParts, folders: EvalFolders): void {
  for (const path of folders.paths) {
    for (const add of [`${path}/eval-sets/:set/add-session`, `${path}/eval_sets/:set/add_session`])
      app.post(add, async (context) => {
        const id = setOf(context)
        const folder = await folders.of(context)
        await folder.read(id) // an unknown set is said before the session is replayed
        const body = await readBody(context)
        const session = await readRecordedSession(context, parts, body)
        const made = await makeCase(context, parts, { session, id: body.text('evalId') })
        await folder.change(id, (text) => checkSet(saveCase(made, { text, name: id, setId: id }), id))
        return context.json(null)
      })
  }
}

function setOf(context: RequestContext): string {
  return context.req.param('set') ?? ''
}

function caseOf(context: RequestContext): string {
  return context.req.param('case') ?? ''
}

/** With a recording, if the session can be replayed. */
async function makeCase(
  context: RequestContext,
  parts: ServerParts,
  { session, id }: { readonly session: RecordedSession; readonly id: string },
): Promise<ReturnType<typeof caseOfSession>> {
  if (id.trim() === '') throw invalid('evalId must not be empty.')
  try {
    return await recordCase(session, { target: appOf(context, parts).runner, id })
  } catch {
    return caseOfSession(session, id) // the page shows what was said and called
  }
}
