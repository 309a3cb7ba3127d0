// Scans QR codes on the venue page where the browser can; everywhere else the field and the phone's own camera do it.

const at = (id) => document.getElementById(id);
const [scan, stop, camera, picture, problem] = ["scan", "stop", "camera", "picture", "no-camera"].map(at);
const EVERY = 150;

/** What a printed code means: the code in its address, or what it says. */
function codeIn(text) {
  try {
    return new URL(text).searchParams.get("code") ?? text;
  } catch {
    return text;
  }
}

function show(running) {
  camera.hidden = !running;
  scan.hidden = running;
}

function end() {
  for (const track of picture.srcObject?.getTracks() ?? []) track.stop();
  picture.srcObject = null;
  show(false);
}

async function look(detector) {
  if (!picture.srcObject) return;
  const [found] = await detector.detect(picture).catch(() => []);
  if (!picture.srcObject) return;
  if (!found) return setTimeout(look, EVERY, detector);
  end();
  at("code").value = codeIn(found.rawValue);
  at("look-up").submit();
}

async function begin(detector) {
  problem.hidden = true;
  try {
    const video = { facingMode: "environment" };
    picture.srcObject = await navigator.mediaDevices.getUserMedia({ video, audio: false });
    show(true);
    stop.focus();
    await picture.play();
    look(detector);
  } catch {
    end();
    problem.hidden = false;
  }
}

const kinds = (await globalThis.BarcodeDetector?.getSupportedFormats?.().catch(() => [])) ?? [];
if (kinds.includes("qr_code") && navigator.mediaDevices?.getUserMedia) {
  const detector = new BarcodeDetector({ formats: ["qr_code"] });
  scan.hidden = false;
  scan.addEventListener("click", () => begin(detector));
  stop.addEventListener("click", () => {
    end();
    scan.focus();
  });
  addEventListener("pagehide", end);
}
