import type { Tool } from '../../../engine/tool/tool.ts'
import type { ChaosOptions } from './chaos-options.ts'
import type { PlayedStory } from './facts.ts'
import { MortalProcess } from './mortal-process.ts'
import type { Plan } from './plan.ts'
import { Scene, SESSION } from './scene.ts'

/** Plays a story: one process after another, until nothing is left to do. `name` begins all its ids. */
export async function play(name: string, plan: Plan, tool: Tool, options: ChaosOptions): Promise<PlayedStory> {
  await options.reset?.()
  const scene = new Scene(name, plan, tool, options)
  await scene.store.createSession(SESSION)
  const before = await scene.look()
  const [first, ...later] = [...plan.faults, undefined]
  await new MortalProcess(scene, first).start()
  for (const fault of later) {
    scene.passTime()
    await new MortalProcess(scene, fault).recover()
  }
  await scene.idle()
  const beforeFinish = await scene.look()
  await options.finish?.()
  const after = await scene.look()
  if (options.finish) scene.facts.push({ type: 'finish', before: beforeFinish, after })
  scene.throwFailure()
  return { facts: scene.facts, before, after, errorCode: await firstErrorCode(scene) }
}

/** The error code of the first response of the tool. */
async function firstErrorCode({ store, tool }: Scene): Promise<string | undefined> {
  const parts = (await store.getSession(SESSION))?.events.flatMap(({ content }) => content?.parts ?? []) ?? []
  const found = parts.find(({ functionResponse }) => functionResponse?.name === tool.name)?.functionResponse
  const code = found?.response.errorCode
  return typeof code === 'string' ? code : undefined
}
