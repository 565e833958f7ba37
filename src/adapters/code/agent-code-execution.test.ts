// One invocation: the model writes code, the code calls a tool and writes a file, the model reads what the code printed.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { LlmAgent } from '../../engine/agent/agents/llm-agent.ts'
import { Runner } from '../../engine/runner/runner.ts'
import type { CodeExecutor } from '../../engine/tool/code-executor.ts'
import { tool } from '../../engine/tool/define-tool.ts'
import { InMemoryArtifactService } from '../../services/artifact/in-memory.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { findWorkingIsolations, hasPython } from './executor.test-kit.ts'
import { isolatedProcess } from './isolated-process/isolated-process.ts'
import { quickjs } from './quickjs/quickjs.ts'

const [isolation] = await findWorkingIsolations()

const price = tool({
  name: 'price',
  description: 'Price of an article',
  effect: 'none',
  parameters: z.object({ article: z.string() }),
  run: ({ article }) => ({ price: article.length }),
})

async function runAgent(codeExecutor: CodeExecutor, language: string, code: string) {
  const artifactService = new InMemoryArtifactService()
  const model = scriptedModel([
    `Let me see.\n\`\`\`${language}\n${code}\n\`\`\``,
    ({ contents }) => `It printed: ${contents.at(-1)?.parts[0]?.codeExecutionResult?.output}`,
  ])
  const agent = new LlmAgent({ name: 'analyst', model, tools: [price], codeExecutor })
  const runner = new Runner({ appName: 'app', agent, artifactService })
  const { text } = await runner.complete({ userId: 'ada', sessionId: 's', message: 'What is the total price?' })
  const artifact = { appName: 'app', userId: 'ada', sessionId: 's', filename: 'sum.txt' }
  const saved = await artifactService.loadArtifact(artifact)
  return { text, saved: saved?.inlineData && Buffer.from(saved.inlineData.data, 'base64').toString() }
}

const expected = { text: 'It printed: 10\nSaved as artifacts: sum.txt.', saved: '10' }

test('an agent runs JavaScript in QuickJS with a tool call and an artifact', async () => {
  const code = `const all = await Promise.all(['bread', 'apple'].map((article) => tools.price({ article })))
const sum = all.reduce((sum, { price }) => sum + price, 0)
writeFile('sum.txt', String(sum))
sum`
  expect(await runAgent(quickjs(), 'js', code)).toEqual(expected)
})

test.skipIf(!isolation || !hasPython)(
  'an agent runs Python in an isolated process with a tool call and an artifact',
  async () => {
    const code = `import tools
total = sum(tools.price(article=name)["price"] for name in ["bread", "apple"])
open("sum.txt", "w").write(str(total))
print(total)`
    expect(await runAgent(isolatedProcess({ languages: ['python'], isolation }), 'python', code)).toEqual(expected)
  },
)

test('an agent does not run code before its confirmation is approved', async () => {
  const codeExecutor = quickjs({ requiresConfirmation: true })
  expect((await runAgent(codeExecutor, 'js', 'writeFile("sum.txt", "x")')).saved).toBeUndefined()
})
