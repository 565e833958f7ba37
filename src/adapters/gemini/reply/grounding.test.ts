import { expect, test } from 'vitest'
import type { JsonObject } from '../../../core/base/json.ts'
import { ask, model } from '../gemini.test-kit.ts'

const source = (name: string): JsonObject => ({ web: { uri: `https://${name}.example/`, title: name } })
const support = (text: string, ...groundingChunkIndices: number[]): JsonObject => ({
  segment: { text },
  groundingChunkIndices,
  confidenceScores: groundingChunkIndices.map(() => 0.5),
})
const chunk = (text: string, candidate: JsonObject): JsonObject => ({
  candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, ...candidate }],
})

async function grounded(chunks: readonly JsonObject[]): Promise<JsonObject | undefined> {
  const { whole, error } = await ask([{ chunks: [...chunks, 'End.'] }], { stream: true })
  expect(error).toBeUndefined()
  return whole?.groundingMetadata
}

test('gemini() merges the grounding of several chunks and renumbers its supports', async () => {
  const merged = await grounded([
    chunk('Oslo is cold. ', {
      groundingMetadata: {
        groundingChunks: [source('yr'), source('met')],
        groundingSupports: [support('Oslo is cold.', 0, 1)],
        webSearchQueries: ['oslo weather'],
        searchEntryPoint: { renderedContent: '<first>' },
      },
    }),
    chunk('Rome is warm. ', {
      groundingMetadata: {
        groundingChunks: [source('meteo'), source('yr')],
        groundingSupports: [support('Rome is warm.', 0, 1)],
        webSearchQueries: ['oslo weather', 'rome weather'],
        searchEntryPoint: { renderedContent: '<last>' },
        retrievalMetadata: { googleSearchDynamicRetrievalScore: 0.9 },
      },
    }),
    chunk('Both are far. ', { groundingMetadata: { groundingSupports: [support('Both are far.', 2)] } }),
  ])
  expect(merged).toEqual({
    groundingChunks: [source('yr'), source('met'), source('meteo')],
    groundingSupports: [support('Oslo is cold.', 0, 1), support('Rome is warm.', 2, 0), support('Both are far.', 2)],
    webSearchQueries: ['oslo weather', 'rome weather'],
    searchEntryPoint: { renderedContent: '<last>' },
    retrievalMetadata: { googleSearchDynamicRetrievalScore: 0.9 },
  })
})

test('gemini() does not duplicate grounding that a later chunk repeats', async () => {
  const first = { groundingChunks: [source('yr')], groundingSupports: [support('a', 0)], webSearchQueries: ['a'] }
  const all = {
    groundingChunks: [source('yr'), source('met')],
    groundingSupports: [support('a', 0), support('b', 1)],
    webSearchQueries: ['a', 'b'],
  }
  expect(await grounded([chunk('a', { groundingMetadata: first }), chunk('b', { groundingMetadata: all })])).toEqual(
    all,
  )
})

test('gemini() keeps the grounding of a single chunk unchanged, with duplicate sources and invalid supports', async () => {
  const only = {
    groundingChunks: [source('yr'), source('yr')],
    groundingSupports: [support('a', 1), support('b', 7), { segment: { text: 'c' } }],
    googleMapsWidgetContextToken: 'token',
  }
  expect(await grounded([chunk('a', { groundingMetadata: only })])).toEqual(only)
})

test('gemini() merges the citations and URL metadata of several chunks', async () => {
  const cited = (uri: string): JsonObject => ({ startIndex: 0, endIndex: 4, uri })
  const read = (retrievedUrl: string): JsonObject => ({
    retrievedUrl,
    urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_SUCCESS',
  })
  const { whole } = await ask(
    [
      {
        chunks: [
          chunk('One ', {
            citationMetadata: { citationSources: [cited('a')] },
            urlContextMetadata: { urlMetadata: [read('a')] },
          }),
          chunk('two ', {
            citationMetadata: { citationSources: [cited('a'), cited('b')] },
            urlContextMetadata: { urlMetadata: [read('b')] },
          }),
          'three.',
        ],
      },
    ],
    { stream: true },
  )
  expect(whole).toMatchObject({
    content: model('One two three.'),
    citationMetadata: { citations: [cited('a'), cited('b')] },
    customMetadata: { gemini: { urlContextMetadata: { urlMetadata: [read('a'), read('b')] } } },
  })
})
