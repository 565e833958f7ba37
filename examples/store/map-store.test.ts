import { test } from 'node:test'
import { sessionServiceSuite } from 'toolwright/testing'
import { MapStore } from './map-store.ts'

sessionServiceSuite(test, (options) => new MapStore(options))
