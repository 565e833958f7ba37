// Fixed limits of OpenAPI documents. A document comes from outside, so that everything that grows with it is bounded.

/** Characters of a document as text. */
export const MAX_TEXT: number = 20 * 1024 * 1024

/** Characters of a document as YAML, which takes twenty times the time and memory of JSON. */
export const MAX_YAML_TEXT: number = 8 * 1024 * 1024

/** Operations of a document. The paths after them are left out. */
export const MAX_FOUND_OPERATIONS = 100_000

/** Operations of a toolset, those that its filter names. The others are left out. */
export const MAX_OPERATIONS = 20_000

/** Characters of a path. */
export const MAX_PATH_LENGTH = 2_000

/** Parameters of one operation. */
export const MAX_PARAMETERS = 500

/** Servers of one operation, and alternatives of its security requirements. */
export const MAX_ALTERNATIVES = 100

/** Characters of a description for the model. */
export const MAX_DESCRIPTION_LENGTH = 4_000

/** Bytes of one schema of an operation, with the definitions it uses: the limit of the schema compiler. */
export const MAX_SCHEMA_BYTES = 256_000

/** Schemas inside one schema of an operation: the limit of the schema compiler. */
export const MAX_SCHEMA_PARTS = 5_000

/** Nesting of one schema: the 64 levels of the schema compiler, without those of the object of arguments around it. */
export const MAX_SCHEMA_LEVELS = 60

/** Steps of all patterns of one schema together: the limit of the schema compiler. */
export const MAX_PATTERN_STEPS = 50_000

/** Schemas that are converted for one document. YAML aliases can make a short text stand for many. */
export const MAX_CONVERTED_PARTS = 3_000_000

/** Definitions in all lists of definitions together. Operations that reach the same definitions share one list. */
export const MAX_LISTED_DEFINITIONS = 500_000

/** Lines of problems. */
export const MAX_NOTES = 1_000
