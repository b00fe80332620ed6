// A native hook at after_model: hides a name in the response. `updatedInput` has no effect at this event.
let text = '';
for await (const chunk of process.stdin) text += chunk;
const { response } = JSON.parse(text).data;
const answer = { updatedResponse: response.text.replaceAll('Ishmael', '[name]'), updatedInput: {} };
console.log(JSON.stringify(response.text === '' ? {} : answer));
