// Says of answers to list requests whether the TypeScript SDK 1 takes them: a JSON array of {"method","result"} on stdin, an array of
// what is wrong with each, "" for nothing, on stdout.
import { ListPromptsResultSchema, ListResourcesResultSchema, ListResourceTemplatesResultSchema, ListToolsResultSchema } from "@modelcontextprotocol/sdk/types.js";

const schemas = {
  "tools/list": ListToolsResultSchema,
  "prompts/list": ListPromptsResultSchema,
  "resources/list": ListResourcesResultSchema,
  "resources/templates/list": ListResourceTemplatesResultSchema,
};
let text = "";
for await (const piece of process.stdin) text += piece;
const answers = JSON.parse(text).map(({ method, result }) => {
  const parsed = schemas[method].safeParse(result);
  return parsed.success ? "" : parsed.error.issues.map((i) => `${i.path.join("/")}: ${i.message}`).join("; ");
});
console.log(JSON.stringify(answers));
