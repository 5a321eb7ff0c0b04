// The one-time code that lets this browser in.
document.getElementById('enter').addEventListener('submit', async (event) => {
  event.preventDefault();
  const refused = document.getElementById('refused');
  const answer = await fetch('/enter', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ code: document.getElementById('code').value }),
  });
  if (answer.ok) {
    location.replace('/');
    return;
  }
  refused.textContent = (await answer.json()).error ?? 'That did not work; try again.';
  refused.hidden = false;
});
