import { LlmAgent, tool } from 'toolwright'
import { type ScriptedStep, scriptedModel } from 'toolwright/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { hostileTexts } from './hostile-texts.ts'
import { startServer } from './kit.ts'
import { expectSafe, openRecorded } from './recorder.ts'
import { expectAccessible } from './tab-kit.ts'

test('a message runs again with another model, temperature and tools, asks for approval, and its call opens in the tool bench', async () => {
  const parameters = z.object({ amount: z.number() })
  const pay = tool({ name: 'pay', description: 'Pays.', parameters, requiresConfirmation: true, run: () => 'paid' })
  const look = tool({ name: 'look', description: 'Looks.', effect: 'none', run: () => 1 })
  const calls: ScriptedStep = { calls: [{ name: 'pay', args: { amount: 7 } }] }
  const other = scriptedModel([calls, 'Paid by the other.'])
  const model = scriptedModel(['One.'])
  const instruction = hostileTexts.join('\n')
  const desk = new LlmAgent({ name: 'desk', model, instruction, tools: [pay, look] })
  const server = await startServer({ apps: { desk }, services: { models: { 'other-*': () => other } } })
  const page = await openRecorded(server, { hash: '#/apps/desk' })
  await page.getByRole('textbox', { name: 'Message' }).fill('Go')
  await page.keyboard.press('Enter')
  await page.getByText('One.', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Retry from here' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('What if the agents were different?').click()
  const field = dialog.getByRole('combobox', { name: 'Model' })
  await expect.poll(() => field.inputValue()).toBe('scripted')
  await field.fill('nobody-1')
  await dialog.getByRole('button', { name: 'Run what-if in a new session' }).click()
  await dialog.getByRole('alert').getByText('nobody-1').waitFor()
  await field.fill('other-1')
  await dialog.getByRole('textbox', { name: 'Temperature' }).fill('0')
  await dialog.getByRole('checkbox', { name: 'look' }).uncheck()
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Run what-if in a new session' }).click()
  await page.getByText('What-if copy: desk with model other-1, temperature 0, only the tools pay').click()
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByText('Paid by the other.').waitFor()
  expect(other.requests[0]?.config).toMatchObject({ temperature: 0, systemInstruction: instruction })
  expect([...(other.requests[0]?.tools.keys() ?? [])]).toEqual(['pay'])
  expect(await page.locator('h1').textContent()).toBe('What if: Go')
  await expectSafe(page)
  await page.getByRole('button', { name: 'Retry from here' }).click() // a copy of the copy begins with the same changes
  await expect.poll(() => field.inputValue()).toBe('other-1')
  expect(await dialog.getByRole('checkbox', { name: 'look' }).isChecked()).toBe(false)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Open this call in the tool bench' }).click()
  await expect.poll(() => page.getByRole('textbox', { name: 'amount' }).inputValue()).toBe('7')
  expect(model.requests).toHaveLength(1)
})
