import { randomUUID } from 'node:crypto'
import type { Hono } from 'hono'
import { COMPUTED, type EvalCriteria, JUDGED } from '../../../../adapters/eval/criteria/criteria.ts'
import { readTestConfig } from '../../../../adapters/eval/criteria/read-test-config.ts'
import type { JsonObject } from '../../../../core/base/json.ts'
import { ToolwrightError } from '../../../../core/error/error.ts'
import type { RequestContext, ServerEnv, ServerParts } from '../../env.ts'
import type { EvalFolders } from '../../evals/eval-folders.ts'
import { asRequest, readSet } from '../../evals/read-set.ts'
import { runSet } from '../../evals/run-set.ts'
import { runQuota } from '../../guard/quotas.ts'
import { Fields } from '../../wire/fields.ts'
import { readBody } from '../../wire/read-body.ts'
import { appOf } from '../scope.ts'
import { checkApprovals } from './check-approvals.ts'

/** ADK's thresholds for a request that names no metric. */
const DEFAULT_CRITERIA: EvalCriteria = {
  tool_trajectory_avg_score: { threshold: 1 },
  response_match_score: { threshold: 0.8 },
}

/** Routes of adk-web that run cases, show earlier results and list the metrics. */
export function evalRunRoutes(app: Hono<ServerEnv>, parts: ServerParts, folders: EvalFolders): void {
  const quota = runQuota(parts)
  for (const path of folders.paths) {
    app.post(`${path}/eval_sets/:set/run_eval`, quota, async (context) =>
      context.json(await run(context, parts, folders)),
    )
    app.post(`${path}/eval-sets/:set/run`, quota, async (context) =>
      context.json({ runEvalResults: await run(context, parts, folders) }),
    )

    app.get(`${path}/eval_results`, async (context) =>
      context.json((await (await folders.find(context))?.results()) ?? []),
    )
    app.get(`${path}/eval-results`, async (context) =>
      context.json({ evalResultIds: (await (await folders.find(context))?.results()) ?? [] }),
    )
    for (const result of [`${path}/eval_results/:result`, `${path}/eval-results/:result`])
      app.get(result, async (context) => {
        const text = await (await folders.of(context)).readResult(context.req.param('result') ?? '')
        return context.body(text, 200, { 'content-type': 'application/json' })
      })

    app.get(`${path}/metrics-info`, (context) => {
      appOf(context, parts)
      return context.json({ metricsInfo: [...COMPUTED, ...JUDGED].map(metricInfo) })
    })
  }
}

async function run(context: RequestContext, parts: ServerParts, folders: EvalFolders): Promise<JsonObject[]> {
  const folder = await folders.of(context)
  checkApprovals(parts, 'A case', 'Run the set with `toolwright eval`.')
  const id = context.req.param('set') ?? ''
  const set = await readSet(folder, id)
  const body = await readBody(context)
  const wanted = body.optionalList('evalCaseIds') ?? body.optionalList('evalIds') ?? []
  const criteria = criteriaOf(body.optionalList('evalMetrics') ?? [])
  const names = new Set(wanted)
  const known = new Set<unknown>(set.cases.map((one) => one.id))
  const unknown = wanted.find((one) => !known.has(one))
  if (unknown !== undefined)
    throw new ToolwrightError('NOT_FOUND', `Eval set "${id}" has no case "${String(unknown)}".`)
  const cases = set.cases.filter((one) => names.size === 0 || names.has(one.id))
  const { runner, name } = appOf(context, parts)
  const signal = AbortSignal.any([context.req.raw.signal, parts.closing])
  const results = await runSet({ set: { ...set, cases }, criteria, runner, signal })
  const resultId = `${name}_${id}_${Date.now()}_${randomUUID().slice(0, 8)}` // two runs may end at the same time
    .replace(/[^A-Za-z0-9_-]+/g, '_')
    .slice(-100)
    .replace(/^-+/, '')
  const stored = { evalSetResultId: resultId, evalSetResultName: resultId, evalSetId: id, evalCaseResults: results }
  await folder.addResult(resultId, JSON.stringify({ ...stored, creationTimestamp: Date.now() / 1000 }))
  return results
}

/** The metrics of a request, as criteria of a `test_config.json`. */
function criteriaOf(metrics: readonly unknown[]): EvalCriteria {
  if (metrics.length === 0) return DEFAULT_CRITERIA
  const criteria = metrics.map((given, at) => {
    const metric = new Fields(given, `evalMetrics.${at}`)
    const more = {
      judge_model_options: metric.optionalObject('judgeModelOptions'),
      ...metric.optionalObject('criterion'),
    }
    return [metric.text('metricName'), { ...more, threshold: metric.value('threshold') }] as const
  })
  return asRequest(() => readTestConfig(JSON.stringify({ criteria: Object.fromEntries(criteria) }), 'evalMetrics'))
}

function metricInfo(metricName: string): JsonObject {
  const interval = { minValue: 0, maxValue: 1, openAtMin: false, openAtMax: false }
  const how = JUDGED.includes(metricName) ? 'A model judges it.' : 'It is computed.'
  return { metricName, description: how, metricValueInfo: { interval } }
}
