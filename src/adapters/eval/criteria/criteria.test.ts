import { LlmAgent, type Model, tool } from 'toolwright'
import { type EvalCase, type EvalCriteria, readEvalSet, readTestConfig, runEvals } from 'toolwright/eval'
import { scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'

const look = tool({
  name: 'look',
  description: 'Looks',
  parameters: z.object({ n: z.number() }),
  run: ({ n }) => ({ n }),
})
/** Calls look() with the number that the user sends, and says what it saw. */
const agent = () =>
  new LlmAgent({
    name: 'desk',
    tools: [look],
    model: scriptedModel(({ contents }) => {
      const last = contents.at(-1)?.parts[0]
      if (last?.functionResponse) return `Saw number ${last.functionResponse.response.n}`
      return { calls: [{ name: 'look', args: { n: Number(last?.text) } }] }
    }),
  })
const right = { user: '1', calls: [{ name: 'look', args: { n: 1 } }], reply: 'Saw number 1' }
const wrong = { user: '2', calls: [{ name: 'look', args: { n: 7 } }], reply: 'Saw number 7' }

async function results(criteria: EvalCriteria, one: Omit<EvalCase, 'id'> = { turns: [right, wrong] }, judge?: Model) {
  const set = { id: 's', agent: agent(), criteria, cases: [{ id: 'c', ...one }] }
  const { cases } = await runEvals({ sets: [set], judgeModel: judge })
  return cases[0]?.trials[0]?.checks.map(({ name, status, score }) => [name, status, score])
}

test('a score is the average over turns, and must reach the threshold', async () => {
  const trajectory = (threshold: number, more = {}) => results({ tool_trajectory_avg_score: { threshold, ...more } })
  expect(await trajectory(0.5)).toEqual([['tool_trajectory_avg_score', 'PASSED', 0.5]])
  expect(await trajectory(0.6)).toEqual([['tool_trajectory_avg_score', 'FAILED', 0.5]])
  expect(await trajectory(1, { ignoreArgs: true })).toEqual([['tool_trajectory_avg_score', 'PASSED', 1]])
  expect(await results({ response_match_score: { threshold: 0.8 } })).toEqual([
    ['response_match_score', 'PASSED', (1 + 2 / 3) / 2],
  ])
})

test('a match in order leaves room for other calls', async () => {
  const turns = [{ ...right, calls: [] }]
  const score = (match: 'exact' | 'in-order') =>
    results({ tool_trajectory_avg_score: { threshold: 1, match } }, { turns })
  expect(await score('exact')).toEqual([['tool_trajectory_avg_score', 'FAILED', 0]])
  expect(await score('in-order')).toEqual([['tool_trajectory_avg_score', 'PASSED', 1]])
})

test('criteria replace what turns expect by default, and a criterion without a turn that it judges never passes', async () => {
  expect(await results({}, { turns: [wrong] })).toEqual([])
  expect(await results({ response_match_score: { threshold: 0.1 } }, { turns: [{ user: '1' }] })).toEqual([
    ['response_match_score', 'NOT_EVALUATED', undefined],
  ])
})

test('a model judges final responses and rubrics, turn by turn', async () => {
  const asked: string[] = []
  const judge = scriptedModel(({ contents }) => {
    const question = contents[0]?.parts[0]?.text ?? ''
    asked.push(question)
    return question.includes('number 7') ? 'No.\nVERDICT: NO' : 'Yes.\nVERDICT: YES'
  })
  const samples = 1
  const criteria = {
    final_response_match_v2: { threshold: 0.5, samples },
    rubric_based_final_response_quality_v1: { threshold: 1, samples, rubrics: ['It is polite.'] },
    rubric_based_tool_use_quality_v1: { threshold: 1, samples },
  }
  expect(await results(criteria, { turns: [right, wrong], rubrics: ['It looks once.'] }, judge)).toEqual([
    ['final_response_match_v2', 'PASSED', 0.5],
    ['rubric_based_final_response_quality_v1', 'PASSED', 1],
    ['rubric_based_tool_use_quality_v1', 'PASSED', 1],
  ])
  expect(asked).toHaveLength(2 + 4 + 2)
})

test.each([
  ['a judge that answers nonsense', { final_response_match_v2: { threshold: 0 } }, scriptedModel(() => 'Perhaps.')],
  [
    'a judge that no provider has',
    { final_response_match_v2: { threshold: 0, judgeModel: 'no-such-model' } },
    undefined,
  ],
  ['a criterion without rubrics', { rubric_based_tool_use_quality_v1: { threshold: 0 } }, scriptedModel([])],
  ['an unknown criterion', { safety_v1: { threshold: 0 } }, undefined],
  ['a name of every object', { constructor: { threshold: 0 } }, undefined],
])('%s is named, and never passes', async (_, criteria: EvalCriteria, judge) => {
  const [metric = ''] = Object.keys(criteria)
  expect(await results(criteria, { turns: [right] }, judge)).toEqual([[metric, 'NOT_EVALUATED', undefined]])
})

test('an unknown criterion is not judged by the rubrics of the case', async () => {
  const judge = scriptedModel(() => 'Yes.\nVERDICT: YES')
  const one = { turns: [right], rubrics: ['It looks once.'] }
  expect(await results({ safety_v1: { threshold: 0 } }, one, judge)).toEqual([
    ['safety_v1', 'NOT_EVALUATED', undefined],
  ])
})

test('reads a test_config.json of ADK', () => {
  const judge = { judge_model: 'gemini-2.5-pro', judge_model_config: { temperature: 0 }, num_samples: 3 }
  const config = {
    criteria: {
      tool_trajectory_avg_score: { threshold: 1, match_type: 'IN_ORDER', ignore_args: true },
      response_match_score: 0.4,
      final_response_match_v2: { threshold: 0.5, judge_model_options: judge },
      rubric_based_tool_use_quality_v1: {
        threshold: 0.9,
        judgeModelOptions: { numSamples: 1 },
        rubrics: [{ rubric_id: 'r', rubric_content: { text_property: 'It looks once.' } }],
      },
      safety_v1: 0.8,
    },
    user_simulator_config: { model: 'gemini-2.5-flash' },
  }
  expect(readTestConfig(JSON.stringify(config), 'test_config.json')).toEqual({
    tool_trajectory_avg_score: { threshold: 1, match: 'in-order', ignoreArgs: true },
    response_match_score: { threshold: 0.4 },
    final_response_match_v2: { threshold: 0.5, judgeModel: 'gemini-2.5-pro', samples: 3 },
    rubric_based_tool_use_quality_v1: { threshold: 0.9, samples: 1, rubrics: ['It looks once.'] },
    safety_v1: { threshold: 0.8 },
  })
})

test.each([
  ['{', 'is not valid JSON'],
  ['[]', 'must hold an object'],
  ['{}', 'needs an object "criteria"'],
  ['{"criteria":{"safety_v1":"high"}}', 'criterion "safety_v1" of "c.json" must be a threshold or an object'],
  ['{"criteria":{"safety_v1":7}}', 'must have a threshold from 0 to 1'],
  ['{"criteria":{"x":{"threshold":1,"match_type":"SOMEHOW"}}}', 'EXACT, IN_ORDER or ANY_ORDER'],
  ['{"criteria":{"x":{"threshold":1,"judge_model_options":{"num_samples":0}}}}', 'num_samples'],
])('refuses the configuration %s', (text, message) => {
  expect(() => readTestConfig(text, 'c.json')).toThrow(message)
})

test('a replay asks no judge, and says so', async () => {
  const file = { eval_set_id: 's', eval_cases: [] }
  const set = { ...readEvalSet(JSON.stringify(file), 's'), criteria: { final_response_match_v2: { threshold: 0.5 } } }
  const recording = {
    version: 1,
    appName: 'a',
    userId: 'u',
    sessionId: 's',
    state: {},
    entries: [],
    models: {},
    toolsets: {},
    steps: [],
  }
  const cases = [{ id: 'c', turns: [right], recording }]
  const judgeModel = scriptedModel(() => {
    throw new Error('A replay asks no model.')
  })
  const { cases: done } = await runEvals({ sets: [{ ...set, cases }], target: agent(), mode: 'replay', judgeModel })
  expect(done[0]?.trials[0]).toMatchObject({
    checks: [{ name: 'replay', status: 'PASSED' }],
    notes: ['final_response_match_v2 is not evaluated: a model judges it, and --replay asks none.'],
  })
})
