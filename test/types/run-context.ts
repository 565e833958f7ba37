// An app that declares its RunContext. The declaration applies to every file that is compiled with it, so this file has its
// own tsconfig.json.
import { LlmAgent, type Model, Runner, tool } from 'toolwright'
import { createToolContext } from 'toolwright/testing'

declare module 'toolwright' {
  interface RunContext {
    tenant: string
    query(sql: string): Promise<number>
  }
}

declare const model: Model

const count = tool({
  name: 'count_orders',
  description: 'Count the orders',
  run: async (_, context) => {
    const { tenant, query } = context.runContext
    // @ts-expect-error: tenant is a string
    const wrong: number = tenant
    return { wrong, orders: await query(tenant) }
  },
})

const agent = new LlmAgent({
  name: 'clerk',
  model,
  tools: [count],
  instruction: ({ runContext }) => `You work for ${runContext.tenant.toUpperCase()}.`,
  beforeTool: ({ context }) => console.log(context.runContext.tenant.length),
})
const runner = new Runner({ appName: 'shop', agent })
const runContext = { tenant: 'acme', query: async () => 2 }

await runner.complete({ userId: 'ada', message: 'How many?', runContext })
runner.run({ userId: 'ada', message: 'How many?', runContext })
runner.resume({ userId: 'ada', sessionId: 's1', runContext })
await runner.recover({ runContext: async ({ userId }) => ({ ...runContext, tenant: userId }) })
// @ts-expect-error: runContext is missing
await runner.complete({ userId: 'ada', message: 'How many?' })
// @ts-expect-error: runContext is missing
runner.resume({ userId: 'ada', sessionId: 's1' })
// @ts-expect-error: query is missing
runner.run({ userId: 'ada', message: 'How many?', runContext: { tenant: 'acme' } })

await count.run({}, createToolContext({ runContext }))
