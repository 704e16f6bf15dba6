package schema

// Bounds on what a schema may cost. A schema beyond one of them still gives a form: the part that is too much becomes a
// raw JSON field with a note, or is reported as unchecked. Each is far above what the
// schemas in testdata need; TestDeepSchemas and its neighbours go beyond them.
const (
	// MaxSchemaBytes is the largest schema that is expanded into fields.
	MaxSchemaBytes = 8 << 20
	// MaxFields bounds how many fields one schema may expand into.
	MaxFields = 200_000
	// MaxParts bounds how many subschemas (through $ref and allOf) apply to one field.
	MaxParts = 1_000
	// MaxVariants bounds the branches of one oneOf or anyOf that are offered.
	MaxVariants = 256
	// maxMerged bounds how many branches have a say in what a command-line argument is read as, before it is known which it is.
	maxMerged = 32
	// maxUnionDepth bounds how deep a oneOf or anyOf directly within another is listed with it.
	maxUnionDepth = 4
	// maxUnions bounds how many of them are, since references multiply.
	maxUnions = 64
	// MaxSkeletonNodes bounds the size of a generated value.
	MaxSkeletonNodes = 20_000
	// maxExampleNodes, maxExampleDepth and maxExampleBytes bound an example: its values, its nesting, and an example of the
	// schema's own that is taken.
	maxExampleNodes = 500
	maxExampleDepth = 6
	maxExampleBytes = 16 << 10
	// MaxSkeletonDepth bounds its nesting, so that a schema that requires itself gives a finite value.
	MaxSkeletonDepth = 128
	// MaxCompileNodes bounds the subschemas given to the validator, whose compiler is quadratic in them.
	MaxCompileNodes = 10_000
	// MaxCompileDepth bounds their nesting.
	MaxCompileDepth = 1_000
	// MaxEvaluations bounds the subschema evaluations of one validation.
	MaxEvaluations = 1_000_000
	// MaxValidateBytes is the largest value that is validated.
	MaxValidateBytes = 64 << 20
	// MaxPatternBytes is the longest regular expression that is compiled.
	MaxPatternBytes = 64 << 10
	// matchBudget bounds the steps of the cheap matcher that decides conditions and variants.
	matchBudget = 20_000
	// maxRefHops bounds a chain of $refs that leads only to more $refs.
	maxRefHops = 64
	// maxNesting is how many containers deep a value or schema may be; the JSON decoder refuses more. Everything here that
	// calls itself for each level rests on it: a stack of Go grows far beyond that.
	maxNesting = 10_000
	// maxArrayIndex bounds a[N]=x on the command line.
	maxArrayIndex = 100_000
)
