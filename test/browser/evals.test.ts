import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InMemorySessionService, LlmAgent, Runner, tool } from 'toolwright'
import { scriptedModel } from 'toolwright/testing'
import { expect, onTestFinished, test } from 'vitest'
import { hostileTexts } from './hostile-texts.ts'
import { accessibilityProblems, startServer } from './kit.ts'
import { expectSafe, openRecorded } from './recorder.ts'

const find = tool({ name: 'find', description: 'Finds', run: () => ({ found: 'a lamp' }) })

/** A session `s1` that can be recorded, and an empty one. */
async function startShop(folder: string) {
  const agent = new LlmAgent({
    name: 'desk',
    model: scriptedModel([{ calls: [{ name: 'find' }] }, 'A lamp.']),
    tools: [find],
  })
  const sessionService = new InMemorySessionService()
  await new Runner({ appName: 'shop', agent, sessionService }).complete({
    userId: 'user',
    sessionId: 's1',
    message: 'Go.',
  })
  await sessionService.createSession({ appName: 'shop', userId: 'user', sessionId: 'empty' })
  const agentFiles = { shop: join(folder, 'agent.ts') }
  return await startServer({ apps: { shop: agent }, services: { sessionService }, agentFiles, recover: false })
}

test('a session is saved as a case, runs again, and shows what is different after a change', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-evals-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const cases = hostileTexts.slice(0, 90).map((text, at) => ({
    eval_id: `${at} ${text.slice(0, 200)}`,
    conversation: [{ user_content: { parts: [{ text }] } }],
  }))
  writeFileSync(join(folder, 'hostile.evalset.json'), JSON.stringify({ eval_set_id: 'hostile', eval_cases: cases }))
  const page = await openRecorded(await startShop(folder), { hash: '#/apps/shop/sessions/empty' })
  const save = async (): Promise<void> => {
    await page.getByRole('button', { name: 'Save as evaluation' }).click()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
  }
  await save()
  await page.getByRole('alert').getByText('it has no message of a user').waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.goto(`${page.url().split('#')[0]}#/apps/shop/sessions/s1`)
  await page.getByRole('heading', { level: 1, name: 'Go.' }).waitFor()
  await save()
  await page.getByText('Case s1 is in shop.evalset.json.').waitFor()
  await page.getByRole('region', { name: 'Messages' }).getByRole('button').click()

  await page.keyboard.press('g')
  await page.keyboard.press('e')
  await page.getByRole('heading', { level: 1, name: 'Evaluations' }).waitFor()
  await page.getByLabel('Eval set').selectOption('shop')
  await page.getByLabel('Runs of each case').fill('2')
  const run = page.getByRole('button', { name: 'Run' })
  await run.click()
  await page.getByText('1 of 1 cases passed · pass^1 1.000 · pass^2 1.000').waitFor()
  expect(await page.getByRole('article', { name: 's1' }).textContent()).toContain('passed2 of 2')

  const file = join(folder, 'shop.evalset.json')
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll('"author": "desk"', '"author": "clerk"'))
  await run.click()
  await page.getByText('0 of 1 cases passed').waitFor()
  const changes = page.getByRole('article', { name: 's1' }).getByRole('region', { name: 'Changes' })
  expect(await changes.locator('del').allTextContents()).toContain('"clerk"')
  expect(await changes.locator('ins').allTextContents()).toContain('"desk"')

  await page.getByLabel('Eval set').selectOption('hostile')
  await run.click()
  await page.getByText(`0 of ${cases.length} cases passed`).waitFor()
  await page.getByText('has no recording, which --replay needs').first().waitFor()
  await expectSafe(page)
  for (const [colorScheme, width] of [
    ['light', 360],
    ['dark', 1440],
  ] as const) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 800 })
    expect(await accessibilityProblems(page)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
  }
})
