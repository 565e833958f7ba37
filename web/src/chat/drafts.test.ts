import { expect, test } from 'vitest'
import { draftOf, keepDraft, moveDraft, noteFocus, ownDraft, takesFocus } from './drafts.ts'

const draft = (text: string) => ({ text, files: [] })

test('text that is typed while a new session opens is the draft of the session', () => {
  keepDraft('new', draft('a'))
  moveDraft('new', 's1')
  keepDraft('new', draft('a draft')) // the page of the session is not shown yet
  expect([draftOf('s1').text, draftOf('new').text]).toEqual(['a draft', ''])
})

test('the field for the next new session has drafts of its own', () => {
  moveDraft('new', 's1')
  ownDraft('new')
  keepDraft('new', draft('another'))
  expect([draftOf('s1').text, draftOf('new').text]).toEqual(['', 'another'])
})

test('the field of a new session takes the focus of the field that it replaces, once', () => {
  noteFocus('shop', true)
  moveDraft('shop', 'session')
  expect([takesFocus('other'), takesFocus('session'), takesFocus('session')]).toEqual([false, true, false])
  noteFocus('shop', false)
  moveDraft('shop', 'session')
  expect(takesFocus('session')).toBe(false)
})
