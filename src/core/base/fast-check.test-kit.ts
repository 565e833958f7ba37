// fast-check with a fixed seed, so that two runs of the tests try the same values. `PROPERTY_SEED=random` tries others: a
// failure prints the seed that repeats it.
import fc from 'fast-check'

const { PROPERTY_SEED = '1' } = process.env
if (PROPERTY_SEED !== 'random') fc.configureGlobal({ seed: Number(PROPERTY_SEED) })

export default fc
