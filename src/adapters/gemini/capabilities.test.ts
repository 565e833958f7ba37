import { expect, test } from 'vitest'
import { capabilitiesOf, isGemini3 } from './capabilities.ts'

test.each([
  ['gemini-2.0-flash', false],
  ['gemini-2.5-pro', false],
  ['gemini-2.5-flash-preview-09-2025', false],
  ['gemini-3-flash-preview', true],
  ['gemini-3.1-pro-preview', true],
  ['gemini-10-pro', true],
  ['models/gemini-3-flash', true],
  ['publishers/google/models/gemini-3-flash', true],
  ['projects/p/locations/l/publishers/google/models/gemini-2.5-flash', false],
  ['gemini-flash-latest', true],
  ['gemini-flash-lite-latest', true],
  ['gemini-2.5-flash-latest', false],
  ['projects/p/locations/l/endpoints/123', false],
  ['tunedModels/gemini-like-3', false],
  ['gemma-3-27b-it', false],
])('isGemini3() reports whether %s is Gemini 3 or newer: %s', (name, isNew) => {
  expect(isGemini3(name)).toBe(isNew)
  const { toolsWithOutputSchema, serverToolsWithFunctions } = capabilitiesOf(name, false)
  expect([toolsWithOutputSchema, serverToolsWithFunctions]).toEqual([isNew, isNew])
})

test('enterprise search is a server tool on Vertex AI only', () => {
  expect(capabilitiesOf('gemini-2.5-flash', false).serverTools).toEqual([
    'googleSearch',
    'codeExecution',
    'urlContext',
    'googleMaps',
  ])
  expect(capabilitiesOf('gemini-2.5-flash', true).serverTools).toEqual(
    expect.arrayContaining(['enterpriseWebSearch', 'vertexAiSearch']),
  )
})

test('Gemini 2.5 combines Google Search with URL context, older and unknown models do not', () => {
  const combinable = (name: string) => capabilitiesOf(name, false).combinableServerTools
  expect(combinable('gemini-2.5-flash')).toEqual([['googleSearch', 'urlContext']])
  expect(combinable('publishers/google/models/gemini-2.5-pro')).toEqual([['googleSearch', 'urlContext']])
  expect(combinable('gemini-2.0-flash')).toBeUndefined()
  expect(combinable('projects/p/locations/l/endpoints/123')).toBeUndefined()
})

test('models before Gemini 2.5 have fewer server tools, Gemma models none', () => {
  expect(capabilitiesOf('gemini-2.0-flash', false).serverTools).toEqual(['googleSearch', 'codeExecution'])
  expect(capabilitiesOf('gemma-3-27b-it', true).serverTools).toEqual([])
})
