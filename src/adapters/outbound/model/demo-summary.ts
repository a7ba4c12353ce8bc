import { cut } from './demo-reply.ts';

const maxRequests = 12;

/**
 * The demo model's summary of a labelled transcript (`[user]`, `[assistant]`, … each on a line of its own): the requests
 * in it, and those that an earlier summary lists, so that a summary of a summary forgets nothing at once.
 */
export function demoSummary(prompt: string): string {
  const earlier = between(prompt, 'earlier_summary')
    .split('\n')
    .flatMap((line) => /^- (.+)$/.exec(line.trim())?.[1] ?? []);
  const requests = [...earlier, ...userBlocks(between(prompt, 'transcript'))].slice(-maxRequests);
  const list = requests.length === 0 ? ['- none that can be read'] : requests.map((request) => `- ${cut(request, 80)}`);
  return [
    'Objective',
    'The user tries Holdfast with its built-in demo model.',
    'Done, in progress, blocked',
    'The requests below were answered.',
    'Open requests (word for word)',
    ...list,
    'Next steps',
    "Answer the user's next request.",
  ].join('\n');
}

function userBlocks(transcript: string): readonly string[] {
  const blocks = transcript.split(/^\[([a-z][^\]\n]{0,80})\]$/m);
  // The split gives what is before the first label, and then label and text by turns.
  return blocks.flatMap((text, index) =>
    index % 2 === 0 && /^user\b/.test(blocks[index - 1] ?? '') && text.trim() !== '' ? [text] : [],
  );
}

/** What stands between `<name>` and `</name>`; for the transcript of an unlabelled prompt, all of it. */
function between(text: string, name: string): string {
  const match = new RegExp(`<${name}>([\\s\\S]*)</${name}>`).exec(text);
  return match?.[1] ?? (name === 'transcript' ? text : '');
}
